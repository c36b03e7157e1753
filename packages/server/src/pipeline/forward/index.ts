export { createForwards } from './run.ts'
export { testForwarder } from './test-forwarder.ts'
