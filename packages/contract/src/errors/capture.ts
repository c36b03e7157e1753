import type { ReasonTexts } from './reason-texts.ts'

/** Refusals of ingest, in the order of its ladder. */
export const capture = {
  endpoint_not_found: {
    status: 404,
    text: 'No endpoint answers at this address. Check the URL; it may have been rotated.',
  },
  ingest_key_not_found: {
    status: 404,
    text: 'This ingest key is not known. Create one under Ingest keys and use it in the URL.',
  },
  endpoint_disabled: { status: 503, text: 'This endpoint is switched off. Enable it to accept requests again.' },
  ip_not_allowed: {
    status: 403,
    text: 'This address may not send here. Add it to the IP allowlist of the endpoint or of the ingest key.',
  },
  workspace_suspended: { status: 403, text: 'This workspace is suspended. Ask the operator to reinstate it.' },
  burst_limited: {
    status: 429,
    text: 'Too many requests at once with this URL or key. Send it again after retry_after seconds.',
  },
  cors_origin_not_allowed: {
    status: 403,
    text: 'Pages of this origin may not post here. Add the origin to the endpoint.',
  },
  handshake_failed: {
    status: 403,
    text: 'The verify token is not that of this endpoint. Set the same one at the sender and at the endpoint.',
  },
  invalid_challenge: { status: 400, text: 'The challenge must have 1 to 2,048 characters. Send one of that length.' },
  scope_missing: {
    status: 403,
    text: 'This ingest key may not do this. Add the scope to the key, or use another key.',
  },
  dataset_not_allowed: {
    status: 403,
    text: 'This ingest key may not use this dataset. Add the dataset to the key, or use another key.',
  },
  payload_too_large: { status: 413, text: 'The body is larger than this endpoint accepts. Send less at once.' },
  records_too_large: {
    status: 413,
    text: 'The rules or mappings make records of this event that are larger than 8 MiB together, so nothing was stored. Send less at once, or take less of it in the mappings.',
  },
  unsupported_encoding: {
    status: 415,
    text: 'This Content-Encoding is not supported. Send the body as it is, or with one of gzip, deflate and br.',
  },
  missing_header: { status: 401, text: 'The signature header is missing. Switch signing on at the sender.' },
  bad_signature: {
    status: 401,
    text: 'The signature does not match the body and the secret of this endpoint. Compare the secrets at both ends.',
  },
  stale_timestamp: {
    status: 401,
    text: 'The signature is right but its timestamp is outside the tolerance. Check the clock of the sender.',
  },
  empty_body: { status: 400, text: 'The body is empty. Send JSON, a urlencoded form or multipart/form-data.' },
  invalid_body: { status: 400, text: 'The body could not be read. Send what its Content-Type says, whole.' },
  loop_detected: {
    status: 409,
    text: 'This event came back to an endpoint that has accepted it before, or has passed five services like this one. Break the loop between your destinations.',
  },
  invalid_idempotency_key: {
    status: 400,
    text: 'The Idempotency-Key is not valid. Send one value of 1 to 255 printable ASCII characters without spaces.',
  },
  idempotency_key_reused: {
    status: 422,
    text: 'This Idempotency-Key was used for another path or body in the last 7 days. Send a repeat exactly as the first request, and a new event with a new key.',
  },
  idempotency_in_progress: {
    status: 409,
    text: 'A request with this idempotency key is still being stored. Send it again after retry_after seconds to get its answer.',
  },
  quota_exceeded: {
    status: 429,
    text: "The plan's events of this month are used up. Send it again when the next month begins, after retry_after seconds, or move to a larger plan at upgrade_url.",
  },
  invalid_dataset: {
    status: 400,
    text: 'The dataset name is not valid. It must start with a letter, followed by up to 62 letters, digits or underscores.',
  },
  dataset_limit_reached: {
    status: 400,
    text: 'This project has as many datasets as it may have. Use an existing one.',
  },
  storage_unavailable: { status: 503, text: 'The event could not be stored just now. Send it again in a moment.' },
} as const satisfies ReasonTexts
