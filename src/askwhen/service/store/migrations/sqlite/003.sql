create table backlog (
    stream integer not null,
    place integer not null,
    rank integer not null,
    time real not null,
    key text,
    subject text,
    source text,
    priority real not null,
    row blob not null,
    shown blob,
    primary key (stream, place)
) strict, without rowid;

create index backlog_by_rank on backlog (stream, rank);

create unique index backlog_by_key on backlog (stream, key) where key is not null;

create index backlog_by_subject on backlog (stream, subject) where subject is not null;

create index backlog_by_source on backlog (stream, source) where source is not null;
