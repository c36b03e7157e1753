-- Which process runs a background loop of the installation. A lease saves work and guards nothing: each loop may run twice.
create table loop_leases (
  name text primary key,
  owner text not null,
  lease_until timestamptz not null
);
