# Runs files of tests of a compiled language in the grading container, each test in a process of its
# own: `perl compiled_runner.pl go|cargo|unity|sanitized`. What it reads and writes is in
# frameworks/base.py, under `Forking`: a line with a file's path, a line with what came of it.
#
# It is Perl because every Debian has that: an image of one language need not hold another. Nothing
# of the candidate's runs in this process, and no process of its user may trace or read it. What was
# compiled has no name any more when it first runs: it is run by a descriptor that only this process
# has, so that one test cannot change what the next one runs. With each test run companions of this
# runner's, behind it, whose names and ends are drawn: code that prints a pass and exits would have
# to know theirs as well.
use strict;
use warnings;
use POSIX ();

use constant LOG_LIMIT => 256 << 10;    # bytes that are kept of what tests print
use constant FIRST_DRAWN => 10_100;     # the lowest number of a user that is drawn
use constant COMPANIONS => 5;
use constant ABSENT => 3;               # names that are asked for like theirs, and stand nowhere

my %FRAMEWORKS = (go => \&go, cargo => \&cargo, unity => \&unity, sanitized => \&unity);

$> >= FIRST_DRAWN or die "This kills all processes of its user, and is not run by this one.\n";

# prctl(PR_SET_DUMPABLE, 0), by its number on x86-64 and on all newer machines.
my $prctl = (POSIX::uname())[4] eq 'x86_64' ? 157 : 167;
syscall($prctl, 4, 0, 0, 0, 0) == 0 or die "prctl: $!\n";

my $framework = $FRAMEWORKS{ $ARGV[0] } or die "go, cargo, unity or sanitized?\n";
require($0 =~ s/runner/sanitized/r) if $ARGV[0] eq 'sanitized';
require($0 =~ s/runner/unity/r) if $framework == \&unity;
my $worktree = POSIX::getcwd();
my $work = "$ENV{TMPDIR}/" . letters();
my %packages;    # of Go, by folder: the sources of the files, and the program they were compiled to

$| = 1;
while (defined(my $line = <STDIN>)) {
    my ($status, $outcomes, $log) = tested(path($line));
    $log = substr($log, -LOG_LIMIT) if length($log) > LOG_LIMIT;
    printf "{\"status\": %d, \"outcomes\": \"%s\", \"log\": \"%s\", \"cut\": false}\n",
        $status, base64($outcomes), base64($log);
}

# Run one file. Give the status that a runner of this file alone would end with, outcomes and log.
sub tested {
    my ($file) = @_;
    chdir($worktree) && mkdir($work, 0700) or die "$work: $!\n";
    my $tests = eval { $framework->($file, $work) };
    my $problem = $@;
    chdir('/');
    run('/bin/rm', '-rf', '--', $work);
    return (1, '', $problem) if !$tests;
    chdir($tests->{folder}) or die "$tests->{folder}: $!\n";
    my ($outcomes, $log, $failed) = ('', '', 0);
    foreach my $name (@{ $tests->{names} }) {
        my ($outcome, $said) = outcome($tests, $name);
        $outcomes .= '{"test": ' . quoted("${file}::$name") . ", \"outcome\": \"$outcome\"}\n";
        next if $outcome eq 'passed' || $outcome eq 'skipped';
        $failed++;
        $log .= "${file}::$name $outcome\n$said\n";
    }
    my $told = @{ $tests->{names} };
    return (16 + $failed % 200, $outcomes . "{\"end\": $told}\n", $log);
}

# Run a test and its companions, of whom some fail. Give its outcome and what was printed.
sub outcome {
    my ($tests, $name) = @_;
    my %companions = %{ $tests->{companions} };
    my @asked = ($name, keys %companions, map { $tests->{named}->(letters()) } 1 .. ABSENT);
    my ($status, $said) = run($tests->{program}, $tests->{options}->(@asked));
    return ('failed', $said) if $status != $tests->{failing} << 8;
    my %ends = map { $_ => '' } @asked;
    foreach my $end ($tests->{ends}->($said)) {
        # Nobody has asked for it: a test that has lost its name, or the end of a line of another's.
        return ('error', $said) if !defined $end->[0] || !exists $ends{ $end->[0] };
        $ends{ $end->[0] } .= $end->[1];
    }
    my %counts = (passed => 0, failed => 0, skipped => 0);
    $counts{$_}++ foreach values %ends;
    # What the framework has counted itself, where it does, is told once and says the same.
    my @told = $tests->{counted}->($said);
    return ('error', $said) if @told && "@told" ne "@counts{qw(passed failed skipped)}";
    foreach my $companion (keys %companions) {
        return ('error', $said) if $ends{$companion} ne $companions{$companion};
    }
    my $known = $ends{$name} =~ /^(?:passed|failed|skipped)$/;
    return ($known ? $ends{$name} : 'error', $said) if $ends{$name} ne 'passed' || !$tests->{faulty};
    my $faulty = shift(@{ $tests->{faulty} });
    push(@{ $tests->{faulty} }, $faulty);
    ($status, $said) = run($tests->{program}, $tests->{options}->(@asked, $faulty));
    return ($status == found() ? 'passed' : 'error', $said);
}

# Draw names, and how each of them ends; one at least fails.
sub companions {
    my ($named) = @_;
    my @ends = ('failed', map { (qw(passed failed skipped))[rand(3)] } 2 .. COMPANIONS);
    return { map { $named->(letters()) => $_ } @ends };
}

# What a framework gives of a file: the names of its tests, the companions, the program that they
# were compiled to, its options for some tests, the folder to run it in, the status with which it
# ends where a test failed, how a name is made, the names and ends that it has printed (no name where
# none can be read), and how many it says have passed, failed and been left out, if it says so. It
# dies of the compiler's words.

# https://pkg.go.dev/cmd/go#hdr-Testing_flags
sub go {
    my ($file) = @_;
    my $folder = $file =~ m{^(.*)/} ? "./$1" : '.';
    my $sources = join("\0", map { $_ => content("$folder/$_") } sources($folder));
    my $package = $packages{$folder};
    my $named = sub { return 'Test' . ucfirst($_[0]) };
    if (!$package || $package->{sources} ne $sources) {
        $ENV{GOCACHE} = "$work/cache";
        in_the_open($folder);
        my $companions = companions($named);
        my ($clause) = content($file) =~ /^(package \w+)/m or die "$file: no package\n";
        my %body = (passed => '', failed => 't.Fail()', skipped => 't.Skip()');
        my @functions = map { "func $_(t *testing.T) { $body{$companions->{$_}} }\n" } keys %$companions;
        laid("$work/companions.go", "$clause\nimport \"testing\"\n@functions");
        # The last of the package, since its files come by name.
        my $place = "$worktree/$folder/zz" . letters() . '_test.go';
        laid("$work/overlay", '{"Replace": {' . quoted($place) . ': ' . quoted("$work/companions.go") . '}}');
        my @compile = qw(go test -c -vet=off -buildvcs=false -overlay);
        built(@compile, "$work/overlay", '-o', "$work/tests", $folder);
        my $program = opened("$work/tests");
        # Who may not read a program's file may not write into its memory either: proc(5), dumpable.
        chmod(0100, "$work/tests") or die "$work/tests: $!\n";
        $package = { sources => $sources, program => $program, companions => $companions };
        $packages{$folder} = $package;
    }
    my %outcomes = (PASS => 'passed', FAIL => 'failed', SKIP => 'skipped');
    return {
        names      => [content($file) =~ /^func (Test(?:[^a-z\W]\w*)?)\(\w+ \*testing\.T\)/mg],
        companions => $package->{companions},
        program    => $package->{program},
        options    => sub { return ('-test.v', '-test.run', '^(' . join('|', @_) . ')$') },
        folder     => "$worktree/$folder",
        failing    => 1,
        named      => $named,
        ends       => sub {
            my @found;
            # A test within another has its name in front of its own.
            push(@found, [$2, $3 ? '' : $outcomes{$1}])
                while $_[0] =~ m{--- (PASS|FAIL|SKIP):(?: ([^\s/]+)(/\S+)? \()?}g;
            return @found;
        },
        counted => sub { return },
    };
}

# Die where the candidate may get at the test that calls it, whose address each trace of the stack
# shows: by pointers that the language does not check, or in another language.
# https://go.dev/ref/spec#Package_unsafe
sub in_the_open {
    my ($folder) = @_;
    # As the compiler reads them, of the module's own packages; `go:linkname` needs `unsafe`.
    my $theirs = '{{if not .Standard}}{{if or (not .Module) .Module.Main}}';
    # Tests may be the candidate's own, and are of the same package; `testing` is theirs to import.
    my $parts = '{{range .Imports}}{{if eq . "testing"}}{{.}} beside tests{{else}}{{.}}{{end}}{{"\n"}}{{end}}';
    $parts .= join('', map { "{{range .$_}}{{.}}\n{{end}}" } qw(TestImports XTestImports SFiles SysoFiles));
    foreach my $part (split(/\n/, built(qw(go list -deps -f), "$theirs${parts}{{end}}{{end}}", $folder))) {
        die "$part is not taken\n" if $part =~ /^(?:C|plugin|testing beside tests|unsafe)$|\.(?:s|S|sx|syso)$/;
    }
}

sub sources {
    my ($folder) = @_;
    opendir(my $names, $folder) or die "$folder: $!\n";
    return sort grep { /\.go$/ } readdir($names);
}

# https://doc.rust-lang.org/cargo/commands/cargo-test.html and `rustc --test`
sub cargo {
    my ($file) = @_;
    my ($target) = $file =~ m{^tests/([^/]+?)(?:/main)?\.rs$} or die "$file: no target of cargo\n";
    # cargo writes beside Cargo.toml, and nobody may write in the worktree.
    my $copy = 'mkdir "$0" && tar -c --exclude=./.git --exclude=./target . | tar -x -C "$0"';
    built('/bin/sh', '-c', $copy, "$work/tree");
    chdir("$work/tree") or die "$work/tree: $!\n";
    # Tests run in the order of their names.
    my $named = sub { return "zz$_[0]" };
    my $companions = companions($named);
    my %body = (passed => '#[test]|{}', failed => '#[test]|{ panic!() }', skipped => '#[test] #[ignore]|{}');
    my @functions = map { join("fn $_()", split(/\|/, $body{$companions->{$_}})) . "\n" } keys %$companions;
    my $source = content($file);
    unlink($file);
    laid($file, "$source\n@functions");
    ($ENV{CARGO_TARGET_DIR}, $ENV{CARGO_HOME}) = ("$work/target", "$work/home");
    my @cargo = qw(cargo test --offline --no-run --message-format=json-render-diagnostics --test);
    my @programs = built(@cargo, $target) =~ /"executable":"([^"]+)"/g;
    @programs or die "cargo has compiled no tests of $file\n";
    my $program = opened($programs[-1]);
    my %outcomes = (ok => 'passed', FAILED => 'failed', ignored => 'skipped');
    return {
        names      => [grep { !$companions->{$_} } built($program, '--list') =~ /^(\S+): test$/mg],
        companions => $companions,
        program    => $program,
        options    => sub { return ('--test-threads=1', '--exact', @_) },
        folder     => $worktree,
        failing    => 101,
        named      => $named,
        ends       => sub {
            # The end of a test comes last behind its name, whatever the test has printed there.
            my ($tests) = $_[0] =~ /\A(.*?)(?:^failures:$|^test result: \w+\. \d|\z)/ms;
            my (undef, %said) = split(/^test (\S+)(?: - should panic)? \.\.\. /m, $tests);
            my $end = qr/.*(ok|FAILED|ignored)(?:, .*)?$/ms;
            return map { [$_, $said{$_} =~ $end ? $outcomes{$1} : ''] } keys %said;
        },
        counted => sub {
            return counted($_[0] =~ /^test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored;/mg);
        },
    };
}

# Give what a framework has counted, told once; what nothing can be equal to where it is not.
sub counted {
    return @_ == 3 ? map { $_ + 0 } @_ : ('unknown');
}

# Give what a command printed; die of it where the command fails.
sub built {
    my ($status, $said) = run(@_);
    $status == 0 or die "$said\n";
    return $said;
}

# Open a program, and give what it is run by.
sub opened {
    my ($path) = @_;
    open(my $handle, '<', $path) or die "$path: $!\n";
    return $handle;
}

# Give how a command ended and what it printed, the end of it. What it leaves running is killed, as
# all is that this user runs.
sub run {
    my ($program, @options) = @_;
    pipe(my $reading, my $writing) or die "pipe: $!\n";
    my $child = fork();
    defined $child or die "fork: $!\n";
    if ($child == 0) {
        POSIX::setsid();
        open(STDIN, '<', '/dev/null');
        open(STDOUT, '>&', $writing);
        open(STDERR, '>&', $writing);
        $program = '/proc/self/fd/' . fileno($program) if ref $program;
        exec { $program } $program, @options or POSIX::_exit(127);
    }
    close($writing);
    my ($said, $status) = ('', undef);
    while (1) {
        # Others may hold the pipe open when the child itself has ended.
        my $ready = '';
        vec($ready, fileno($reading), 1) = 1;
        if (select($ready, undef, undef, 0.01)) {
            last if !sysread($reading, my $more, 1 << 16);
            $said .= $more;
            $said = substr($said, -LOG_LIMIT) if length($said) > 2 * LOG_LIMIT;
        }
        elsif (!defined $status && waitpid($child, POSIX::WNOHANG()) == $child) {
            $status = $?;
            kill('KILL', -1);
        }
    }
    if (!defined $status) {
        waitpid($child, 0);
        $status = $?;
        kill('KILL', -1);
    }
    return ($status, $said);
}

sub letters {
    return join('', map { chr(97 + int(rand(26))) } 1 .. 12);
}

sub laid {
    my ($path, $text) = @_;
    open(my $handle, '>', $path) or die "$path: $!\n";
    print($handle $text) && close($handle) or die "$path: $!\n";
}

sub content {
    my ($path) = @_;
    open(my $handle, '<', $path) or die "$path: $!\n";
    local $/ = undef;
    return scalar <$handle>;
}

# Read a line of JSON with a list of one path.
sub path {
    my ($text) = $_[0] =~ /^\["(.*)"\]$/ or die "no path: $_[0]";
    $text =~ s{\\(?:u([0-9a-f]{4})|(.))}{ $1 ? character(hex $1) : $2 }ge;
    return $text;
}

sub character {
    my $text = chr($_[0]);
    utf8::encode($text);
    return $text;
}

# Write a string of JSON.
sub quoted {
    my ($text) = @_;
    $text =~ s/([\\"\x00-\x1f])/sprintf('\\u%04x', ord($1))/ge;
    return "\"$text\"";
}

# RFC 4648, by way of uuencode, which has other letters, a length before each line and no `=`.
sub base64 {
    my ($data) = @_;
    my $text = join('', map { substr($_, 1) } split(/\n/, pack('u', $data)));
    $text =~ tr{` -_}{AA-Za-z0-9+/};
    my $padding = (3 - length($data) % 3) % 3;
    return $padding ? substr($text, 0, -$padding) . '=' x $padding : $text;
}
