/**
 * The verifier for Node, which answers at once, with settings that have all their members. `index.ts` is for every
 * platform.
 */
export { subscribeUrlOf } from './aws-sns.ts'
export { explainSignature, type ExplainedStep } from './explain.ts'
export {
  SIGNATURE_STEPS,
  type Fetched,
  type Needed,
  type Signed,
  type SignatureFailure,
  type SignatureStep,
} from './reading.ts'
export { otherHeaderHints, type HeldSecret, type SchemeSettings } from './schemes.ts'
export { signDelivery, verifyDelivery, verifyServiceSignature } from './service-signature.ts'
export { validateSecretForm } from './secret-form.ts'
export { isSignable, isSignedInBody, signatureSeconds, signRequest } from './sign-request.ts'
export { isProviderText, neededText, verifySignature } from './verify-signature.ts'
