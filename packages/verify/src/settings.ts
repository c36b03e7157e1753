import type {
  BODY_HASH_ENCODINGS,
  DIGEST_ENCODINGS,
  HMAC_ALGORITHMS,
  JWT_ALGORITHMS,
  KEY_ENCODINGS,
  PUBLIC_KEY_ALGORITHMS,
  TIMESTAMP_FORMATS,
} from './described-content.ts'

/** How a sender proves its requests, as the wire names it: the settings of each scheme, with a value for each. */

type Tolerated = { readonly tolerance_seconds: number }
type InHeader = { readonly header: string; readonly prefix: string }

/** A signature over content that the settings describe. */
export type ContentSettings = InHeader & {
  readonly encoding: (typeof DIGEST_ENCODINGS)[number]
  /** Such as `{timestamp}.{body}`. */
  readonly signed: string
  /** The item of the header that carries the signature, such as v1 in `t=…,v1=…`; null: the header is the signature. */
  readonly signature_item: string | null
  readonly timestamp_header: string | null
  readonly timestamp_item: string | null
  readonly timestamp_format: (typeof TIMESTAMP_FORMATS)[number]
  readonly id_header: string | null
  /** null: 300 s with a timestamp. */
  readonly tolerance_seconds: number | null
  /** Dot paths of the signature and its time in the body, in place of a header. Older settings do not have them. */
  readonly signature_path?: string | null | undefined
  readonly timestamp_path?: string | null | undefined
}

export type VerificationSettings =
  | { readonly scheme: 'none' }
  | ({ readonly scheme: 'payments_provider' } & Tolerated)
  | { readonly scheme: 'code_host' }
  | { readonly scheme: 'commerce_platform' }
  | ({ readonly scheme: 'chat_platform' } & Tolerated)
  | ({ readonly scheme: 'standard_webhooks' } & Tolerated)
  | ({
      readonly scheme: 'hmac'
      readonly algorithm: 'sha256' | 'sha1'
      readonly encoding: 'hex' | 'base64'
    } & InHeader)
  | ({
      readonly scheme: 'custom_hmac'
      readonly algorithm: (typeof HMAC_ALGORITHMS)[number]
      readonly key_encoding: (typeof KEY_ENCODINGS)[number]
    } & ContentSettings)
  | ({ readonly scheme: 'public_key'; readonly algorithm: (typeof PUBLIC_KEY_ALGORITHMS)[number] } & ContentSettings)
  | ({ readonly scheme: 'static_token' } & InHeader)
  | { readonly scheme: 'basic_auth' }
  | ({
      readonly scheme: 'jwt'
      readonly algorithm: (typeof JWT_ALGORITHMS)[number]
      readonly body_hash_claim: string
      readonly body_hash_encoding: (typeof BODY_HASH_ENCODINGS)[number]
    } & InHeader &
      Tolerated)
  | ({
      readonly scheme: 'oidc_bearer'
      readonly issuer: string
      /** null: the URL that was called. */
      readonly audience: string | null
      /** The claim whose value is the secret of the endpoint. */
      readonly identity_claim: string
      /** null: the discovery document of the issuer names it. */
      readonly jwks_uri: string | null
    } & InHeader &
      Tolerated)
  | { readonly scheme: 'aws_sns' }
  | { readonly scheme: 'paypal' }

export type VerificationScheme = VerificationSettings['scheme']
