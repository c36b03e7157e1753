const NODE = `import { createHmac, timingSafeEqual } from 'node:crypto'

// body: the raw request bytes; header: webhook-signature
export function isOurs({ secret, id, timestamp, header, body }) {
  if (Math.abs(Date.now() / 1000 - timestamp) > 300) return false
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
  const made = createHmac('sha256', key)
    .update(\`\${id}.\${timestamp}.\`)
    .update(body)
    .digest()
  return header.split(' ').some((one) => {
    const sent = Buffer.from(one.replace('v1,', ''), 'base64')
    return sent.length === made.length && timingSafeEqual(sent, made)
  })
}`

const PYTHON = `import base64, hashlib, hmac, time

# body: the raw request bytes; header: webhook-signature
def is_ours(secret, id, timestamp, header, body):
    if abs(time.time() - int(timestamp)) > 300:
        return False
    key = base64.b64decode(secret.removeprefix("whsec_") + "==")
    made = hmac.new(key, f"{id}.{timestamp}.".encode() + body, hashlib.sha256).digest()
    text = base64.b64encode(made).decode()
    return any(hmac.compare_digest(one, "v1," + text) for one in header.split(" "))`

const GO = `// body: the raw request bytes; header: webhook-signature
func isOurs(secret, id, timestamp, header string, body []byte) bool {
	sent, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil || time.Since(time.Unix(sent, 0)).Abs() > 5*time.Minute {
		return false
	}
	key, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(strings.TrimPrefix(secret, "whsec_"), "="))
	if err != nil {
		return false
	}
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%s.", id, timestamp)
	mac.Write(body)
	made := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	for _, one := range strings.Split(header, " ") {
		if hmac.Equal([]byte(one), []byte(made)) {
			return true
		}
	}
	return false
}`

const RUBY = `require 'base64'
require 'openssl'

# body: the raw request bytes; header: webhook-signature
def ours?(secret:, id:, timestamp:, header:, body:)
  return false if (Time.now.to_i - timestamp.to_i).abs > 300
  key = Base64.decode64(secret.delete_prefix('whsec_'))
  made = 'v1,' + Base64.strict_encode64(OpenSSL::HMAC.digest('SHA256', key, "#{id}.#{timestamp}.#{body}"))
  header.split(' ').any? { |one| OpenSSL.secure_compare(one, made) }
end`

const PHP = `// $body: the raw request bytes; $header: webhook-signature
function is_ours(string $secret, string $id, string $timestamp, string $header, string $body): bool {
    if (abs(time() - (int) $timestamp) > 300) return false;
    $key = base64_decode(substr($secret, strlen('whsec_')));
    $made = 'v1,' . base64_encode(hash_hmac('sha256', "$id.$timestamp.$body", $key, true));
    foreach (explode(' ', $header) as $one) {
        if (hash_equals($made, $one)) return true;
    }
    return false;
}`

const LIBRARY = `// npm install standardwebhooks
import { Webhook } from 'standardwebhooks'

const event = new Webhook(process.env.WEBHOOK_SECRET).verify(body, {
  'webhook-id': headers['webhook-id'],
  'webhook-timestamp': headers['webhook-timestamp'],
  'webhook-signature': headers['webhook-signature'],
})`

/** Programs that verify the Standard Webhooks signature of a delivery. */
export const SNIPPETS = { Node: NODE, Python: PYTHON, Go: GO, Ruby: RUBY, PHP, Library: LIBRARY } as const

export type Language = keyof typeof SNIPPETS
