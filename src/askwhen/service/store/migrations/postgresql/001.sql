create table events (
    stream bigint not null,
    seq bigint not null,
    time double precision not null,
    kind text not null,
    question bigint,
    key text,
    facts text not null,
    row bytea,
    shown bytea,
    primary key (stream, seq)
);

create unique index events_by_key on events (stream, key) where key is not null;

create index events_by_question on events (stream, question, seq) where question is not null;

create table snapshots (
    stream bigint not null,
    seq bigint not null,
    about text not null,
    books bytea not null,
    model bytea not null,
    primary key (stream, seq)
);

create table owner (
    number bigint not null
);

insert into owner values (0);
