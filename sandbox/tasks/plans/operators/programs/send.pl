# Send a letter: `perl post/send.pl ADDRESS LETTER`.
use strict;
use warnings;

my ($here) = $0 =~ m{^(.*)/};
if (defined $here) {
    chdir $here or die "$here: $!\n";
}
chomp(my $place = `git rev-parse --show-prefix 2>/dev/null`);
die "send.pl sends from post/ of its repository alone\n" if $place ne 'post/';
my ($address, $letter) = @ARGV;
die "usage: perl post/send.pl ADDRESS LETTER\n" if !defined $letter || $letter =~ m{/};
open my $in, '<', "letters/$letter" or die "letters/$letter: $!\n";
open my $out, '>', "sent/$address.txt" or die "sent/$address.txt: $!\n";
print {$out} <$in>;
close $out or die "sent/$address.txt: $!\n";
print "sent to $address\n";
