alter table events add column subject text;

create index events_by_subject on events (stream, subject) where subject is not null;

create table outbox (
    id text primary key,
    hook text not null,
    made real not null,
    due real,
    attempts integer not null,
    problem text not null,
    body text not null
) strict, without rowid;
