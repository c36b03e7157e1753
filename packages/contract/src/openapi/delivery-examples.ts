/** The values of members about deliveries, by the name of their schema. */
export const DELIVERY_MEMBERS: Readonly<Record<string, unknown>> = {
  'Attempt.request': {
    method: 'POST',
    url: 'https://erp.example.com/webhooks',
    headers: { 'content-type': 'application/json', 'service-attempt': '1', 'x-tenant': '••••••••' },
    body_sha256: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
    body_bytes: 214,
    body_form: null,
    body_reason: null,
  },
  'Destination.forward_headers': ['X-Shop-Topic'],
}
