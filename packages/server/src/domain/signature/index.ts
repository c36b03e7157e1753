export {
  explainSignature,
  isProviderText,
  isSignable,
  isSignedInBody,
  neededText,
  SIGNATURE_STEPS,
  signatureSeconds,
  signDelivery,
  signRequest,
  subscribeUrlOf,
  validateSecretForm,
  verifyDelivery,
  verifyServiceSignature,
  verifySignature,
  type Fetched,
  type HeldSecret,
  type Needed,
  type Signed,
} from '@postroad/verify/sync'
export { explainRefused, hintsOfRefused, isTimed } from './explain-sample.ts'
export { signatureForms } from './form.ts'
