import { z } from 'zod'
import { filledName } from '../../../platform/links/names.ts'
import { awsAnswer, type AwsError } from './aws-answers.ts'
import { awsHeaders } from './aws-signature.ts'
import { attributesOf, noId, type Api } from './calls.ts'
import { textOf, type Prepared } from './types.ts'

const Sent = z.object({ MessageId: z.string().min(1), SequenceNumber: z.string().optional() })
const Failed = z.object({ __type: z.string(), message: z.string().optional(), Message: z.string().optional() })

/** The action SendMessage of Amazon SQS, by its JSON protocol. */
export const SQS: Api = {
  call: async (prepared, now) => {
    const { target } = prepared
    const { config } = target
    if (config.kind !== 'sqs') throw new Error(`${config.kind} is not sqs.`)
    // The action is a header, and the queue is in the body, so the request goes to the root of the endpoint.
    const url = `${new URL(target.url).origin}/`
    const body = messageOf(prepared, config.group)
    const headers = { 'content-type': 'application/x-amz-json-1.0', 'x-amz-target': 'AmazonSQS.SendMessage' }
    const { auth } = target
    const { region } = config
    return {
      url,
      shownUrl: target.url,
      body,
      headers: await awsHeaders({ auth, method: 'POST', url, headers, body, service: 'sqs', region, now }),
    }
  },
  read: ({ status, body }, { request }) => {
    if (status < 200 || status >= 300)
      return awsAnswer({ status, error: errorIn(body), bytes: Buffer.byteLength(request.body), name: 'SQS' })
    const sent = Sent.safeParse(jsonIn(body))
    if (!sent.success) return noId('SQS')
    const { MessageId, SequenceNumber } = sent.data
    return { text: `Sent as ${MessageId}${SequenceNumber === undefined ? '' : `, number ${SequenceNumber}`}` }
  },
}

function messageOf(prepared: Prepared, group: string): string {
  const { event, request, target } = prepared
  return JSON.stringify({
    QueueUrl: target.url,
    MessageBody: textOf(request),
    MessageAttributes: Object.fromEntries(
      attributesOf(prepared).map(([name, value]) => [name, { DataType: 'String', StringValue: value }]),
    ),
    ...(new URL(target.url).pathname.endsWith('.fifo')
      ? { MessageGroupId: filledName(group, event), MessageDeduplicationId: event.id }
      : {}),
  })
}

function errorIn(body: string): AwsError {
  const failed = Failed.safeParse(jsonIn(body))
  if (!failed.success) return { code: '', message: '' }
  const { __type, message, Message } = failed.data
  return { code: __type.split('#').at(-1) ?? '', message: message ?? Message ?? '' }
}

function jsonIn(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}
