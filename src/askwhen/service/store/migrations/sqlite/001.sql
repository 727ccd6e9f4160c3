create table events (
    stream integer not null,
    seq integer not null,
    time real not null,
    kind text not null,
    question integer,
    key text,
    facts text not null,
    row blob,
    shown blob,
    primary key (stream, seq)
) strict, without rowid;

create unique index events_by_key on events (stream, key) where key is not null;

create index events_by_question on events (stream, question, seq) where question is not null;

create table snapshots (
    stream integer not null,
    seq integer not null,
    about text not null,
    books blob not null,
    model blob not null,
    primary key (stream, seq)
) strict;
