export {
  explainSignature,
  isProviderText,
  isSignable,
  neededUrl,
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
} from '@postroad/verify/sync'
export { explainRefused, hintsOfRefused, isTimed } from './explain-sample.ts'
export { signatureForms } from './form.ts'
