-- Where a key comes from that no person created in the console; null: a person.
alter table api_keys add column origin text check (origin in ('bootstrap', 'command_line'));

-- The key of `bootstrap` used to be the same at every call. The next call revokes it, like any previous one.
update api_keys k
   set origin = 'bootstrap'
 where k.name = 'bootstrap'
   and k.role = 'admin'
   and k.project_id is null
   and k.expires_at is null
   and k.revoked_at is null
   and not exists (
         select
           from api_keys o
          where o.workspace_id = k.workspace_id
            and o.name = k.name
            and o.revoked_at is null
            and o.id < k.id
       );

-- It held that key and the sign-in link of the server, sealed, to show them again. No credential can be shown again now.
drop table installation;
