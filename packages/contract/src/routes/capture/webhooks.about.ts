import type { About } from '../../about.ts'
import { Cors } from '../../gates.ts'
import { EndpointResponse } from '../../endpoint-response.ts'
import { Split } from '../../body-reading.ts'
import { Handshake, HandshakeCreate, HandshakePatch } from '../../handshake.ts'
import { Idempotency } from '../../idempotency.ts'
import { SignatureExplanation } from '../../signature-explanation.ts'
import { Verification, VerificationCreate, VerificationPatch } from '../../verification.ts'
import { type webhooks, Webhook, WebhookConfig, Version } from './webhooks.ts'
import { EXAMPLE_PAYLOAD, exampleId } from '../../openapi/example-id.ts'

export const about = {
  text: 'Endpoints: the URLs that accept events, with their verification, criteria and mappings.',
  refusals: {
    create: ['slug_taken', 'dataset_limit_reached'],
    update: ['slug_taken'],
    restoreVersion: ['slug_taken'],
    signSample: ['invalid_state'],
    verifySample: ['invalid_state'],
    rotate: ['overlap_running'],
    rotateVerificationSecret: ['overlap_running'],
  },
  schemas: {
    Cors,
    EndpointResponse,
    Split,
    Handshake,
    HandshakeCreate,
    HandshakePatch,
    Idempotency,
    SignatureExplanation,
    Verification,
    VerificationCreate,
    VerificationPatch,
    Webhook,
    WebhookConfig,
    WebhookVersion: Version,
  },
  bodies: {
    create: { name: 'GitHub', verification: { scheme: 'code_host', secret: 'the secret of the webhook at GitHub' } },
    update: { criteria: [{ path: 'action', op: 'in', value: ['opened', 'closed'] }] },
    test: { criteria: [{ path: 'type', equals: 'order.created' }], payloads: [EXAMPLE_PAYLOAD] },
    verifySample: { headers: { 'X-Hub-Signature-256': 'sha256=…' }, body: '{"action":"opened"}' },
    signSample: { body: '{"action":"opened"}' },
    rotate: { overlap_hours: 24 },
    rotateVerificationSecret: { overlap_hours: 24 },
    restoreVersion: {},
  },
  members: {
    SignatureExplanation: { scheme: 'code_host', ok: true },
    Verification: { scheme: 'code_host', has_secret: true },
    Webhook: {
      name: 'GitHub',
      slug: 'github',
      dataset: 'github',
      webhook_slug: 'ZyluJM2yHOls6sYAtcVf51A1IS',
      public_path: '/acme/shop/ZyluJM2yHOls6sYAtcVf51A1IS',
      public_url: 'https://hooks.example.com/acme/shop/ZyluJM2yHOls6sYAtcVf51A1IS',
    },
    WebhookConfig: { name: 'GitHub', slug: 'github', dataset: 'github' },
    WebhookVersion: { changed: ['criteria'], actor: exampleId('user') },
  },
} satisfies About<typeof webhooks>
