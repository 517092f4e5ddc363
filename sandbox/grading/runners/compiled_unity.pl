# What compiled_runner.pl knows of Unity, the framework of C: how a file of tests is compiled, and
# what its program prints.
# https://github.com/ThrowTheSwitch/Unity/blob/master/src/unity_internals.h
use strict;
use warnings;
use POSIX ();

my %libraries;    # by folder of tests: the sources, and the archive of what they were compiled to
my @flags = $ARGV[0] eq 'sanitized' ? sanitizers() : ();

# Compile a file of tests. Its own `main` runs them: what it is to run there is asked for.
sub unity {
    my ($file, $work) = @_;
    my ($folder) = "./$file" =~ m{^(.*)/};
    my ($before, $main) = content($file) =~ /\A(.*?)^(int(?:\s+\w+)?\s+main\s*\(.*)\z/ms
        or die "$file: it has no main\n";
    my %seen;
    my @names = grep { !$seen{$_}++ } $main =~ /^[ \t]*RUN_TEST\(\s*(\w+)\s*\);/mg;
    my $named = sub { return "zz$_[0]" };
    my $companions = companions($named);
    my %body = (passed => '', failed => 'TEST_FAIL();', skipped => 'TEST_IGNORE();');
    my %functions = map { $_ => "static void $_(void) { $body{$companions->{$_}} }\n" } keys %$companions;
    my %faulty = @flags ? faulty($named) : ();
    my $functions = join('', values %functions, values %faulty);
    my $runs = join('', map { "RUN_TEST($_);\n" } keys %{ { %functions, %faulty } });
    # Behind all tests, where the preprocessor leaves nothing out.
    $main =~ s/\A(.*^)(?=[^\n]*\bUNITY_END\()/$1$runs/ms && !guarded($1)
        or die "$file: UNITY_END is not called once for all tests\n";
    # Beside the file, whose own includes go by where it stands; nobody may write in the worktree.
    my @include = map { "-I$_" } grep { -d } $folder, qw(. include src lib);
    my ($headers) = $before =~ m{^\s*#\s*include\s+"((?:[^"]*/)?)unity\.h"}m or die "$file: unity.h?\n";
    my @theirs = grep { $folder ne ($_ eq '.' ? '.' : "./$_") } qw(. include src lib);
    unaware($_) foreach map { glob("$_/*.[ch]") } @theirs;
    my $library = library($work, [$folder, "$folder/$headers", qw(. src lib)], \@include);
    laid("$work/tests.c", "#line 1 \"$file\"\n$before" . asked() . "$functions#line 1\n$main");
    laid("$work/library.a", $library);
    compiled("$work/tests.c", "$work/tests.o", ['-iquote', $folder, @include]);
    built('objcopy', @{ $libraries{$folder}{hidden} }, "$work/tests.o");
    alone("$work/library.a", "$work/tests.o") if @flags;
    built('cc', @flags, '-o', "$work/tests", "$work/tests.o", "$work/library.a", '-lm');
    my $program = opened("$work/tests");
    chmod(0100, "$work/tests") if @flags;
    my %outcomes = (PASS => 'passed', FAIL => 'failed', IGNORE => 'skipped');
    return {
        names      => \@names,
        companions => $companions,
        faulty     => @flags ? [keys %faulty] : undef,
        program    => $program,
        options    => sub { return @_ },
        folder     => POSIX::getcwd() . "/$folder",
        failing    => 1,
        named      => $named,
        ends       => sub {
            my @found;
            push(@found, [$1, $outcomes{$2}]) while $_[0] =~ /:\d+:(\w+):(PASS|FAIL|IGNORE)\b/g;
            return @found;
        },
        counted => sub {
            my ($all, $failed, $ignored, @more) =
                $_[0] =~ /^(\d+) Tests (\d+) Failures (\d+) Ignored/mg;
            return counted(@more || !defined $all ? () : ($all - $failed - $ignored, $failed, $ignored));
        },
    };
}

# Die where a source that is not of the tests speaks of what judges it: tests may include it whole.
sub unaware {
    my ($source) = @_;
    my $text = content($source);
    # Comments may say what they like; what looks like one within a string is code.
    $text =~ s{("(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')|/\*.*?\*/|//[^\n]*}{ $1 // ' ' }gse;
    my $names = qr/Unity\w*|UNITY_\w+|RUN_TEST\w*|TEST_(?:ABORT|ASSERT|FAIL|IGNORE|MESSAGE|PASS|PROTECT)\w*/;
    my ($name) = $text =~ /\b($names|unity\w*\.h)\b/ or return;
    die "$source: $name is the tests' own\n";
}

# Whether the preprocessor may leave out what follows.
sub guarded {
    my ($text) = @_;
    my $open = () = $text =~ /^[ \t]*#[ \t]*if/mg;
    my $closed = () = $text =~ /^[ \t]*#[ \t]*endif/mg;
    return $open > $closed;
}

# What stands in front of `main`: a test is run if it is among the program's arguments.
sub asked {
    my $own = 'zz' . letters();
    my $run = @flags ? watched("${own}_run") : '';
    my $by = @flags ? "${own}_run" : 'UnityDefaultTestRun';
    return $run . <<"END";
static int ${own}_count;
static char **${own}_words;
__attribute__((constructor)) static void ${own}_keep(int count, char **words)
{
    ${own}_count = count;
    ${own}_words = words;
}
static int ${own}_asked(const char *name)
{
    int each;
    for (each = 1; each < ${own}_count; each++)
        if (__builtin_strcmp(${own}_words[each], name) == 0)
            return 1;
    return 0;
}
#undef RUN_TEST
#define RUN_TEST(function) if (${own}_asked(#function)) $by(function, #function, __LINE__)
#undef UNITY_END
#define UNITY_END() (UnityEnd() != 0)
END
}

# Compile a file of C; die where it would silence sanitizers that watch.
sub compiled {
    my ($source, $object, $options) = @_;
    built('cc', '-w', @flags, @$options, '-c', '-o', $object, $source);
    return if !@flags;
    built('cc', '-w', @flags, @$options, '-E', '-o', "$object.i", $source);
    in_sight($source, content("$object.i"));
}

# Give the options by which all that the framework's objects offer gets another name, which is drawn:
# its state says which test runs, and how it has gone, and is nobody else's.
sub hidden {
    my $prefix = 'zz' . letters();
    my %names = map { $_ => 1 } map { built(qw(nm -g --defined-only), $_) =~ /^\S+ [A-Z] (\S+)$/mg } @_;
    return map { "--redefine-sym=$_=$prefix$_" } sort keys %names;
}

# Compile the sources of some folders that have no `main`, and give them as an archive. Nothing of
# the candidate has run since it was compiled, or it is not in a file: it is kept in memory.
sub library {
    my ($work, $folders, $include) = @_;
    my (%seen, @sources);
    foreach my $source (map { sort glob("$_/*.c") } @$folders) {
        next if $seen{$source}++ || content($source) =~ /^int(?:\s+\w+)?\s+main\s*\(/m;
        push(@sources, $source);
    }
    my $texts = join("\0", map { $_ => content($_) } @sources);
    my $known = $libraries{ $folders->[0] };
    if (!$known || $known->{texts} ne $texts) {
        my @objects = map { sprintf('%s/%03d.o', $work, $_) } 0 .. $#sources;
        compiled($sources[$_], $objects[$_], $include) foreach 0 .. $#sources;
        my @framework = map { "$_/unity" } @$folders[0, 1];
        my @its = map { my $at = $_; grep { index($sources[$at], $_) == 0 } @framework ? $objects[$at] : () }
            0 .. $#sources;
        my @hidden = hidden(@its);
        built('objcopy', @hidden, $_) foreach @its;
        built('ar', 'rcs', "$work/library.a", @objects) if @objects;
        $known = { texts => $texts, archive => @objects ? content("$work/library.a") : "!<arch>\n",
            hidden => \@hidden };
        $libraries{ $folders->[0] } = $known;
    }
    return $known->{archive};
}

1;
