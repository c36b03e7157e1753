import { createPublicKey, generateKeyPairSync } from 'node:crypto'
import { jwtVerify } from 'jose'
import { aCloud, type Answer, type Asked, type Cloud } from './cloud.ts'

const ACCOUNT = 'postroad@acme.iam.gserviceaccount.com'
export const PUBSUB_TOPIC = 'projects/acme/topics/events'

export const aServiceAccountKey = () =>
  generateKeyPairSync('rsa', {
    modulusLength: 2_048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  })

/** Google Pub/Sub with one topic, by its REST API. It verifies the tokens of one service account. */
export function aPubsub(): Promise<Cloud> {
  const { publicKey, privateKey } = aServiceAccountKey()
  const verified = ({ headers: { authorization = '' } }: Asked): Promise<boolean> =>
    jwtVerify(authorization.replace('Bearer ', ''), createPublicKey(publicKey), {
      issuer: ACCOUNT,
      subject: ACCOUNT,
      audience: 'https://pubsub.googleapis.com/',
      maxTokenAge: '1h',
    }).then(
      () => true,
      () => false,
    )
  return aCloud({
    name: 'pubsub',
    members: (at) => ({
      url: at,
      config: { kind: 'pubsub', topic: PUBSUB_TOPIC },
      auth: { kind: 'google', client_email: ACCOUNT, private_key: privateKey },
    }),
    answer: async (asked, events) => {
      if (!(await verified(asked))) return pubsubFault(401, 'UNAUTHENTICATED', 'Invalid authentication credentials.')
      if (asked.path !== `/v1/${PUBSUB_TOPIC}:publish`)
        return pubsubFault(404, 'NOT_FOUND', 'Resource not found (resource=other).')
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the request of the method publish
      const { messages } = JSON.parse(asked.body) as {
        messages: { data: string; attributes: Record<string, string> }[]
      }
      const [{ data, attributes } = { data: '', attributes: {} }] = messages
      events.push({ id: attributes['webhook-id'] ?? '', body: Buffer.from(data, 'base64').toString() })
      return { status: 200, body: JSON.stringify({ messageIds: ['4711'] }) }
    },
  })
}

const pubsubFault = (code: number, status: string, message: string): Answer => ({
  status: code,
  body: JSON.stringify({ error: { code, message, status } }),
})
