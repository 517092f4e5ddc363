#!/usr/bin/perl
# A tool server over data: MCP over stdio, a JSON-RPC message per line. `desk.pl DESK.json`.
#
# Perl with its own modules, because every image has it: git needs it.
# Source of the protocol: Model Context Protocol, revision 2025-06-18, transport stdio.
use strict;
use warnings;
use JSON::PP;

my $json = JSON::PP->new->utf8->canonical;
open(my $file, '<', $ARGV[0]) or die "$ARGV[0]: $!\n";
my $desk = $json->decode(do { local $/; <$file> });
my %tools = map { $_->{name} => $_ } @{ $desk->{tools} };
my (%marks, %given);

sub described {
    my ($tool) = @_;
    my $arguments = $tool->{arguments};
    my %properties = map { $_ => { type => 'string', description => $arguments->{$_} } }
        keys %$arguments;
    return {
        name => $tool->{name},
        description => $tool->{about},
        inputSchema => {
            type => 'object',
            properties => \%properties,
            required => [sort keys %$arguments],
        },
    };
}

sub fits {
    my ($reply, $arguments, $place) = @_;
    return 0 if defined $reply->{times} && ($given{$place} // 0) >= $reply->{times};
    return 0 if defined $reply->{after} && !$marks{ $reply->{after} };
    return 0 if defined $reply->{before} && $marks{ $reply->{before} };
    for my $name (keys %{ $reply->{where} }) {
        my $value = $arguments->{$name};
        return 0 if !defined $value || ref $value || $value ne $reply->{where}{$name};
    }
    return 1;
}

sub result {
    my ($text, $structured, $error) = @_;
    return {
        content => [{ type => 'text', text => $text }],
        ($structured ? (structuredContent => $structured) : ()),
        isError => $error ? JSON::PP::true : JSON::PP::false,
    };
}

sub call {
    my ($name, $arguments) = @_;
    my $tool = $tools{$name};
    my @missing = grep { !defined $arguments->{$_} } sort keys %{ $tool->{arguments} };
    return result("These arguments are missing: @missing.", undef, 1) if @missing;
    my $number = 0;
    for my $reply (@{ $tool->{replies} }) {
        my $place = "$name " . $number++;
        next if !fits($reply, $arguments, $place);
        $given{$place}++;
        delete @marks{ @{ $reply->{clears} // [] } };
        $marks{$_} = 1 for @{ $reply->{marks} };
        return result($reply->{says}, $reply->{structured}, $reply->{error});
    }
    return result('There is no answer to that.', undef, 1);
}

sub answer {
    my ($method, $params) = @_;
    if ($method eq 'initialize') {
        return {
            protocolVersion => $params->{protocolVersion},
            capabilities => { tools => {} },
            serverInfo => { name => 'desk', version => '1' },
        };
    }
    if ($method eq 'tools/list') {
        return { tools => [map { described($_) } @{ $desk->{tools} }] };
    }
    if ($method eq 'tools/call' && exists $tools{ $params->{name} // '' }) {
        return call($params->{name}, $params->{arguments} // {});
    }
    return $method eq 'ping' ? {} : undef;
}

$| = 1;
while (my $line = <STDIN>) {
    my $message = $json->decode($line);
    next if !exists $message->{id};
    my $result = answer($message->{method} // '', $message->{params} // {});
    my %reply = (jsonrpc => '2.0', id => $message->{id});
    if (defined $result) {
        $reply{result} = $result;
    } else {
        $reply{error} = { code => -32602, message => 'There is no such tool or method.' };
    }
    print $json->encode(\%reply), "\n";
}
