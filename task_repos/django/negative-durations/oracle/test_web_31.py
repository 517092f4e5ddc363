import datetime
import unittest

from django.utils.dateparse import parse_duration
from django.utils.duration import duration_iso_string


class NegativeDurationTests(unittest.TestCase):
    def test_the_whole_is_negative(self):
        duration = -datetime.timedelta(days=1, hours=1)
        self.assertEqual(parse_duration("-P1DT1H"), duration)
        self.assertEqual(parse_duration(duration_iso_string(duration)), duration)
