import { filledName } from '../../../platform/links/names.ts'
import { awsAnswer } from './aws-answers.ts'
import { awsHeaders } from './aws-signature.ts'
import { attributesOf, noId, type Api } from './calls.ts'
import { textOf, type Prepared } from './types.ts'

/** The action Publish of Amazon SNS, by its query protocol, the only one that it has. */
export const SNS: Api = {
  call: async (prepared, now) => {
    const { target } = prepared
    const { config } = target
    if (config.kind !== 'sns') throw new Error(`${config.kind} is not sns.`)
    const url = `${new URL(target.url).origin}/`
    const body = formOf(prepared, config)
    const headers = { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8' }
    const { auth } = target
    const region = config.topic_arn.split(':')[3] ?? ''
    return {
      url,
      body,
      headers: await awsHeaders({ auth, method: 'POST', url, headers, body, service: 'sns', region, now }),
    }
  },
  read: ({ status, body }, { request }) => {
    const error = { code: within(body, 'Code'), message: within(body, 'Message') }
    if (status < 200 || status >= 300)
      return awsAnswer({ status, error, bytes: Buffer.byteLength(request.body), name: 'SNS' })
    const id = within(body, 'MessageId')
    return id === '' ? noId('SNS') : { text: `Published as ${id}` }
  },
}

function formOf(prepared: Prepared, { topic_arn, group }: { topic_arn: string; group: string }): string {
  const { event, request } = prepared
  const form = new URLSearchParams({
    Action: 'Publish',
    Version: '2010-03-31',
    TopicArn: topic_arn,
    Message: textOf(request),
  })
  for (const [index, [name, value]] of attributesOf(prepared).entries()) {
    const entry = `MessageAttributes.entry.${index + 1}`
    form.set(`${entry}.Name`, name)
    form.set(`${entry}.Value.DataType`, 'String')
    form.set(`${entry}.Value.StringValue`, value)
  }
  if (topic_arn.endsWith('.fifo')) {
    form.set('MessageGroupId', filledName(group, event))
    form.set('MessageDeduplicationId', event.id)
  }
  return form.toString()
}

/** The text of the first element with this name. Answers of SNS have no attributes and no nesting of equal names. */
function within(xml: string, name: string): string {
  const [, text = ''] = new RegExp(`<${name}>([^<]{1,500})</${name}>`).exec(xml) ?? []
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&quot;', '"').replaceAll('&amp;', '&')
}
