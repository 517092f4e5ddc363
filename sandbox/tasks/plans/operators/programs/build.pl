# Build the price list from what stands in the folders beside it.
use strict;
use warnings;

my ($here) = $0 =~ m{^(.*)/};
if (defined $here) {
    chdir $here or die "$here: $!\n";
}

sub slurp {
    my ($path) = @_;
    open my $in, '<', $path or die "$path: $!\n";
    local $/;
    return <$in>;
}

sub spit {
    my ($path, $text) = @_;
    open my $out, '>', $path or die "$path: $!\n";
    print {$out} $text;
    close $out or die "$path: $!\n";
    return;
}

for my $supplier (sort glob 'suppliers/*.csv') {
    my ($margin) = slurp('margin.txt') =~ /(\d+)/;
    for my $row (split /\n/, slurp($supplier)) {
        my ($article, $units, $cents) = $row =~ /^([a-z]+),(\d+)\.(\d\d)$/ or next;
        my $price = int(($units * 100 + $cents) * (100 + $margin) / 100);
        my $written = sprintf '%d.%02d', int($price / 100), $price % 100;
        spit("entries/$article.txt", "article: $article\nprice: $written\n");
    }
}

my $body = -e 'header.txt' ? slurp('header.txt') : '';
for my $entry (sort glob 'entries/*.txt') {
    my ($article, $price) = slurp($entry) =~ /^article: (\S+)\nprice: (\S+)$/m
      or die "$entry: no article with its price\n";
    $body .= "$article $price\n";
}
spit('index.txt', $body);
my ($seal) = `sha256sum index.txt` =~ /^([0-9a-f]{12})/ or die "index.txt has no seal\n";
spit('index.txt', "${body}seal: $seal\n");
