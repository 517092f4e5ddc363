# Send a letter: `perl post/send.pl ADDRESS LETTER`.
use strict;
use warnings;

my ($here) = $0 =~ m{^(.*)/};
if (defined $here) {
    chdir $here or die "$here: $!\n";
}
my ($address, $letter) = @ARGV;
die "usage: perl post/send.pl ADDRESS LETTER\n" if !defined $letter || $letter =~ m{/};
open my $in, '<', "letters/$letter" or die "letters/$letter: $!\n";
-d 'sent' or mkdir 'sent' or die "sent: $!\n";
open my $out, '>', "sent/$address.txt" or die "sent/$address.txt: $!\n";
print {$out} <$in>;
close $out or die "sent/$address.txt: $!\n";
print "sent to $address\n";
