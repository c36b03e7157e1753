export {
  certificateUrlOf,
  explainSignature,
  isSignable,
  SIGNATURE_STEPS,
  signatureSeconds,
  signDelivery,
  signRequest,
  subscribeUrlOf,
  validateSecretForm,
  verifyDelivery,
  verifyServiceSignature,
  verifySignature,
  type HeldSecret,
  type Signed,
  type SignatureFailure,
} from '@postroad/verify'
export { explainRefused, hintsOfRefused, isTimed } from './explain-sample.ts'
export { signatureForms } from './form.ts'
