create table listing (
    stream integer not null,
    item integer not null,
    seq integer,
    time real not null,
    prediction text,
    certainty real not null,
    label text,
    state text not null,
    source text,
    flagged integer not null,
    comments integer not null,
    now text,
    now_certainty real,
    primary key (stream, item)
) strict, without rowid;

create index listing_by_seq on listing (stream, seq) where seq is not null;

create index listing_by_time on listing (stream, time, item);

create index listing_by_certainty on listing (stream, certainty, item, state, label, flagged) where certainty >= 0;

create index listing_by_prediction on listing (stream, prediction, item) where prediction is not null;

create index listing_by_prediction_and_certainty on listing (stream, prediction, certainty, item, state, label)
where prediction is not null and certainty >= 0;

create index listing_by_label on listing (stream, label, item) where label is not null;

create index listing_by_label_and_certainty on listing (stream, label, certainty, item)
where label is not null and certainty >= 0;

create index listing_by_label_and_time on listing (stream, label, time, item) where label is not null;

create index listing_by_state on listing (stream, state, item);

create index listing_by_source on listing (stream, source, item) where source is not null;

create index listing_flagged on listing (stream, item) where flagged = 1;

create index listing_changed on listing (stream, item) where now <> prediction;

create table listing_people (
    stream integer not null,
    person text not null,
    item integer not null,
    primary key (stream, person, item)
) strict, without rowid;

create index listing_people_by_item on listing_people (stream, item);

create table listed (
    stream integer primary key,
    seq integer not null,
    place integer not null,
    untidy integer not null
) strict;

create virtual table listing_words using fts5 (words, content = '', contentless_delete = 1);

insert into listing_words (listing_words, rank) values ('secure-delete', 1);
