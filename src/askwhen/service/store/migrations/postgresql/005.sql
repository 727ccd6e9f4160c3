alter table backlog add column advice text;
