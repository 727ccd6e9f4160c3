create table listing (
    stream bigint not null,
    item bigint not null,
    seq bigint,
    time double precision not null,
    prediction text,
    certainty double precision not null,
    label text,
    state text not null,
    source text,
    flagged bigint not null,
    comments bigint not null,
    now text,
    now_certainty double precision,
    words tsvector,
    primary key (stream, item)
);

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
    stream bigint not null,
    person text not null,
    item bigint not null,
    primary key (stream, person, item)
);

create index listing_people_by_item on listing_people (stream, item);

create table listed (
    stream bigint primary key,
    seq bigint not null,
    place bigint not null,
    untidy bigint not null
);

create index listing_by_words on listing using gin (words);
