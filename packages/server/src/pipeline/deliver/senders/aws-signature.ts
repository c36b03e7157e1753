import { AwsV4Signer } from 'aws4fetch'
import type { HeldAuth } from '../../../domain/delivery/destination-auth.ts'

type ToSign = {
  readonly auth: HeldAuth | null
  readonly method: 'POST' | 'PUT'
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** Absent: the headers have the digest of the body. */
  readonly body?: string
  readonly service: 's3' | 'sqs' | 'sns'
  readonly region: string
  readonly now: number
}

/** The headers with AWS Signature Version 4, names in lower case. Without an access key the request is anonymous. */
export async function awsHeaders({ auth, now, ...request }: ToSign): Promise<Readonly<Record<string, string>>> {
  if (auth?.kind !== 'aws') return request.headers
  const signer = new AwsV4Signer({
    ...request,
    accessKeyId: auth.access_key_id,
    secretAccessKey: auth.secret,
    datetime: new Date(now).toISOString().replaceAll(/[:-]|\.\d{3}/g, ''),
  })
  const signed = await signer.sign()
  return Object.fromEntries(signed.headers)
}
