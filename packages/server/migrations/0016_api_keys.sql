-- Where an admin API key may be used from; empty: anywhere.
alter table api_keys add column ip_allowlist text[] not null default '{}';
