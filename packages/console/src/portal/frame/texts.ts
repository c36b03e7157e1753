export const SUSPENDED =
  'The sender is suspended. Events are not delivered, and you cannot change anything. Waiting deliveries are sent when the suspension ends.'
export const OFFLINE = 'You are offline. Changes need a connection.'
