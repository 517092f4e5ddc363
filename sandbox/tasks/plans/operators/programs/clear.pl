# Clear a file for a commit: `perl clearance/clear.pl PATH` prints its line for clearance/list.txt.
# `perl clearance/clear.pl --check` says what is missing of what is staged.
use strict;
use warnings;

sub slurp {
    my ($path) = @_;
    open my $in, '<', $path or die "$path: $!\n";
    local $/;
    return <$in>;
}

sub output {
    my (@command) = @_;
    open my $in, '-|', @command or die "$command[0]: $!\n";
    local $/;
    my $text = <$in> // '';
    return close $in ? $text : undef;
}

my $checks = @ARGV && $ARGV[0] eq '--check';
my %set = (
    $checks ? output('git', 'show', 'HEAD:clearance/settings.txt') : slurp('clearance/settings.txt')
) =~ /^(\w+): (.*)$/mg;

sub line {
    my ($path, $class, $blob) = @_;
    my $parts = join ':', $set{key}, $path, $class, $set{content} eq 'yes' ? $blob : '';
    my $code = output('sh', '-c', 'printf %s "$1" | sha256sum | cut -c 1-8', 'sh', $parts);
    return "$path $class $code";
}

if ($checks) {
    my $staged = output('git', 'rev-parse', '--verify', '-q', ":$set{path}");
    my $known = output('git', 'rev-parse', '--verify', '-q', "HEAD:$set{path}");
    exit 0 if !defined $staged;
    chomp $staged;
    my $wanted = line($set{path}, $set{class}, $staged);
    chomp $wanted;
    my @before = split /\n/, output('git', 'show', 'HEAD:clearance/list.txt') // '';
    my @list = split /\n/, output('git', 'show', ':clearance/list.txt') // '';
    my $same = defined $known && "$staged\n" eq $known;
    exit 0 if $same && !grep { $_ eq $wanted } @before;
    my @other = grep { /^\Q$set{path}\E ([A-Z]) / && $1 ne $set{class} } @list;
    exit 0 if !@other && grep { $_ eq $wanted } @list;
    if (@other) {
        print "$set{path} has a line of a class that it is not of: $other[0]\n";
        exit 1;
    }
    print "$set{path} is not cleared as it is staged: clearance/list.txt has no line of class"
      . " $set{class} for it\n";
    print "wanted: $wanted\n" if $set{tells} eq 'line';
    exit 1;
}

my ($path, $class) = @ARGV;
die "usage: perl clearance/clear.pl PATH" . ($set{classes} eq 'yes' ? " CLASS" : "") . "\n"
  if !defined $path || ($set{classes} eq 'yes' && !defined $class);
my $blob = output('git', 'hash-object', $path) // exit 1;
chomp $blob;
print line($path, $class // $set{class}, $blob);
