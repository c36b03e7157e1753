import type { About } from '../../about.ts'
import { Cors } from '../../gates.ts'
import { EndpointResponse } from '../../endpoint-response.ts'
import { Split } from '../../body-reading.ts'
import { Handshake, HandshakeCreate, HandshakePatch } from '../../handshake.ts'
import { Idempotency } from '../../idempotency.ts'
import { SignatureExplanation } from '../../signature-explanation.ts'
import { Verification, VerificationCreate, VerificationPatch } from '../../verification.ts'
import { type webhooks, Webhook, WebhookConfig, Version } from './webhooks.ts'

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
} satisfies About<typeof webhooks>
