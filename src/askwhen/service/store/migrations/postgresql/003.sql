create table backlog (
    stream bigint not null,
    place bigint not null,
    rank bigint not null,
    time double precision not null,
    key text,
    subject text,
    source text,
    priority double precision not null,
    row bytea not null,
    shown bytea,
    primary key (stream, place)
);

create index backlog_by_rank on backlog (stream, rank);

create unique index backlog_by_key on backlog (stream, key) where key is not null;

create index backlog_by_subject on backlog (stream, subject) where subject is not null;

create index backlog_by_source on backlog (stream, source) where source is not null;
