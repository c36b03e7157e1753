import type { StoredBody, StoredPayload } from '../../context.ts'
import { decodeBody } from './decode-body.ts'

/** A stored body as its payload: read by its content type, as when it came. */
export function readStored({ body, headers }: StoredBody): StoredPayload | Promise<StoredPayload> {
  return decodeBody({ body, contentType: headers['content-type'] })
}
