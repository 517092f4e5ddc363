# Put a letter into the outbox: `perl post/queue.pl ADDRESS LETTER`.
use strict;
use warnings;

my ($here) = $0 =~ m{^(.*)/};
if (defined $here) {
    chdir $here or die "$here: $!\n";
}
my ($address, $letter) = @ARGV;
die "usage: perl post/queue.pl ADDRESS LETTER\n" if !defined $letter || $letter =~ m{/};
open my $in, '<', "letters/$letter" or die "letters/$letter: $!\n";
my $text = join '', <$in>;
open my $out, '>', "outbox/$address.txt" or die "outbox/$address.txt: $!\n";
print {$out} "To: $address\n\n$text";
close $out or die "outbox/$address.txt: $!\n";
my ($number) = `sha256sum outbox/$address.txt` =~ /^([0-9a-f]{10})/ or die "it got no number\n";
print "number: $number\n";
