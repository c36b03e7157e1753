/** The entry of the package. It needs only what every runtime for the web has: `fetch`, `URL`, streams and Web Crypto. */
export type * from './contract.ts'
export { Postroad, type PostroadOptions } from './postroad.ts'
export type { CallOptions, Pages } from './call.ts'
export type { Events, EventToSend } from './events.ts'
export type { StreamEvent, StreamOptions } from './stream.ts'
export {
  ConflictError,
  ForbiddenError,
  NotFoundError,
  RateLimitedError,
  refusalIn,
  ServiceError,
  UnauthorizedError,
  UnreachableError,
} from './service-error.ts'
export {
  SignatureError,
  verifySignature,
  type DeliveredEvent,
  type SignatureReason,
  type SignedRequest,
} from './verify-signature.ts'
