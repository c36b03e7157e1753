import type { EndpointResponse } from '@postroad/contract'

export type ResponseDraft = {
  readonly status: 'standard' | '200' | '201' | '202' | '204'
  readonly contentType: string
  readonly body: string
}

export function responseDraftOf(response: EndpointResponse): ResponseDraft {
  if (response === null) return { status: 'standard', contentType: '', body: '' }
  return { status: `${response.status}`, contentType: response.content_type ?? '', body: response.body }
}

const STATUSES = { 200: 200, 201: 201, 202: 202, 204: 204 } as const

/** A response with the status 204 has no body, so text that was typed before is not sent. */
export function responseOf({ status, contentType, body }: ResponseDraft): EndpointResponse {
  if (status === 'standard') return null
  const type = contentType.trim()
  return {
    status: STATUSES[status],
    content_type: type === '' ? null : type,
    body: status === '204' ? '' : body,
  }
}
