-- Sources that read replication may copy the rows that exist first (docs/adr/0290). Those that exist do not.
update sources
   set settings = (settings::jsonb || '{"snapshot": false}')::json
 where kind = 'postgres_replication';
