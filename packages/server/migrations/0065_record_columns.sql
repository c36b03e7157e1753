-- The keys that were found in the records of a webhook, so that a listing reads each payload once (docs/adr/0065).
create table record_columns (
  workspace_id uuid not null,
  project_id uuid not null,
  webhook_id uuid not null,
  -- Every submission with an id up to this one has been read.
  scanned_to uuid not null,
  -- A JSON object: each key, and the newest submission whose record has it.
  last_seen text not null,
  -- The newest submission whose record has keys that did not fit in; null: every key is there.
  missed_at uuid,
  primary key (workspace_id, project_id, webhook_id),
  foreign key (workspace_id, project_id, webhook_id) references webhooks (workspace_id, project_id, id) on delete cascade
);

-- What a record is sorted by. kind null: the value is missing, 0: a number or a plain decimal in text, 1: other text,
-- 2: a boolean, 3: an empty object or list.
create type record_rank as (kind smallint, number numeric, words text);

-- Where the steps lead in a payload. With `walks` they are taken one by one, because #> would take '-1' and '007' for places
-- in a list. With `is_value` a payload that is neither an object nor a list is itself the value.
create function record_value(payload json, steps text[], walks boolean, is_value boolean) returns json
language plpgsql immutable as $$
declare
  node json := payload;
  step text;
begin
  if is_value and json_typeof(payload) not in ('object', 'array') then
    return payload;
  end if;
  if not walks then
    return payload #> steps;
  end if;
  foreach step in array steps loop
    if json_typeof(node) <> 'array' then
      node := node -> step;
    elsif step ~ '^(0|[1-9][0-9]{0,8})$' then
      node := node -> step::int;
    else
      return null;
    end if;
  end loop;
  return node;
end
$$;

-- The rank of a payload by the value at a path. It never fails: PostgreSQL refuses to unescape \u0000 and half a surrogate
-- pair, which payloads may have, so these are replaced before another try.
create function record_rank_at(payload text, steps text[], walks boolean, is_value boolean) returns record_rank
language plpgsql immutable as $$
declare
  node json;
  token text;
  rank record_rank;
begin
  begin
    if walks or is_value then
      node := record_value(payload::json, steps, walks, is_value);
    else
      node := payload::json #> steps;
    end if;
    token := node #>> '{}';
  exception when others then
    begin
      node := record_value(
        regexp_replace(replace(payload, '\u0000', '\u0001'), '\\u[dD][89a-fA-F][0-9a-fA-F]{2}', '\\ufffd', 'g')::json,
        steps, walks, is_value);
      token := node #>> '{}';
    exception when others then
      return rank;
    end;
  end;

  case json_typeof(node)
    when 'number' then
      rank.kind := 0;
    when 'string' then
      if token ~ '^[\s\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]*[+-]?[0-9]+(\.[0-9]+)?[\s\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]*$' then
        rank.kind := 0;
        token := substring(token from '[+-]?[0-9]+(?:\.[0-9]+)?');
      else
        rank.kind := 1;
        rank.words := left(token, 1024);
      end if;
    when 'boolean' then
      rank.kind := 2;
      rank.number := (token = 'true')::int;
    when 'object' then
      if token ~ '^\{\s*\}$' then
        rank.kind := 3;
      end if;
    when 'array' then
      if token ~ '^\[\s*\]$' then
        rank.kind := 3;
      end if;
    else
      null;
  end case;

  if rank.kind = 0 and length(token) <= 20 and token !~ '[eE]' then
    rank.number := token::numeric;
  elsif rank.kind = 0 then
    begin
      rank.number := token::numeric;
      -- Beyond any double; and a row of digits without end would be carried along.
      if abs(rank.number) >= 1e400 then
        rank.number := sign(rank.number) * 'infinity'::numeric;
      else
        rank.number := trunc(rank.number, 400);
      end if;
    exception when others then
      rank.number := case when token ~ '^[+-]?[0.]*([eE]|$)' or token ~ '[eE]-' then 0
                          when token ~ '^-' then '-infinity'::numeric
                          else 'infinity'::numeric end;
    end;
  end if;
  return rank;
end
$$;
