/** The event that the first run sends. */
export const SAMPLE_TEXT = JSON.stringify({ type: 'order.created', total: 42.5, items: 3 })
