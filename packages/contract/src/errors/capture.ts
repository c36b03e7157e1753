import type { ReasonTexts } from './reason-texts.ts'

/** Refusals of ingest, in the order of its ladder. */
export const capture = {
  endpoint_not_found: {
    status: 404,
    text: 'There is no endpoint at this URL. Check the URL. It may have been rotated.',
  },
  ingest_key_not_found: {
    status: 404,
    text: 'This ingest key does not exist. Create one under Ingest keys and use it in the URL.',
  },
  endpoint_disabled: { status: 503, text: 'This endpoint is turned off. Enable it to accept requests again.' },
  ip_not_allowed: {
    status: 403,
    text: 'This IP address is not allowed. Add it to the IP allowlist of the endpoint or of the ingest key.',
  },
  workspace_suspended: { status: 403, text: 'This workspace is suspended. Ask the operator to reinstate it.' },
  burst_limited: {
    status: 429,
    text: 'Too many requests at once with this URL or key. Send it again after retry_after seconds.',
  },
  cors_origin_not_allowed: {
    status: 403,
    text: 'Pages from this origin are not allowed to post here. Add the origin to the allowed origins of the endpoint.',
  },
  handshake_failed: {
    status: 403,
    text: 'The verify token does not match the one of this endpoint. Set the same token at the sender and at the endpoint.',
  },
  invalid_challenge: { status: 400, text: 'The challenge must have 1 to 2,048 characters. Send one of that length.' },
  scope_missing: {
    status: 403,
    text: 'This ingest key does not have the scope for this. Add the scope to the key, or use another key.',
  },
  dataset_not_allowed: {
    status: 403,
    text: 'This ingest key may not use this dataset. Add the dataset to the key, or use another key.',
  },
  payload_too_large: { status: 413, text: 'The body is larger than this endpoint accepts. Send a smaller body.' },
  records_too_large: {
    status: 413,
    text: 'The records that the rules or mappings make from this event are larger than 8 MiB in total, so nothing was stored. Send a smaller event, or map less of it.',
  },
  unsupported_encoding: {
    status: 415,
    text: 'This Content-Encoding is not supported. Send the body uncompressed, or compressed with gzip, deflate, br or zstd.',
  },
  missing_header: { status: 401, text: 'The signature header is missing. Turn on signing at the sender.' },
  bad_signature: {
    status: 401,
    text: 'The signature does not match the body and the secret of this endpoint. Check that both sides use the same secret.',
  },
  stale_timestamp: {
    status: 401,
    text: 'The signature is correct, but its timestamp is outside the tolerance. Check the clock of the sender.',
  },
  empty_body: { status: 400, text: 'The body is empty. Send JSON, a urlencoded form or multipart/form-data.' },
  invalid_body: {
    status: 400,
    text: 'The body could not be read. Send a complete body in the format of its Content-Type.',
  },
  loop_detected: {
    status: 409,
    text: 'This event returned to an endpoint that has already accepted it, or it has passed through five services like this one. Break the loop between your destinations.',
  },
  invalid_idempotency_key: {
    status: 400,
    text: 'The Idempotency-Key is not valid. Send one value of 1 to 255 printable ASCII characters without spaces.',
  },
  idempotency_key_reused: {
    status: 422,
    text: 'This Idempotency-Key was used for another path or body in the last 7 days. To repeat a request, send it unchanged. For a new event, use a new key.',
  },
  idempotency_in_progress: {
    status: 409,
    text: 'A request with this idempotency key is still being stored. Send it again after retry_after seconds to get its response.',
  },
  quota_exceeded: {
    status: 429,
    text: "The plan's events for this month are used up. Send it again when the next month starts, after retry_after seconds, or move to a larger plan at upgrade_url.",
  },
  invalid_dataset: {
    status: 400,
    text: 'The dataset name is not valid. It must start with a letter, followed by up to 62 letters, digits or underscores.',
  },
  dataset_limit_reached: {
    status: 400,
    text: 'This project has the maximum number of datasets. Use an existing one.',
  },
  provider_unavailable: {
    status: 503,
    text: 'Postroad cannot reach the provider to fetch its certificate. Send the event again after retry_after seconds.',
  },
  storage_unavailable: { status: 503, text: 'The event could not be stored. Send it again in a moment.' },
} as const satisfies ReasonTexts
