import { createHmac } from 'node:crypto'
import { keyedHash } from '../../../src/keys/keyed-hash.js'

const TEXTS = ['', 'value:ada', '日本 🙂', 'x'.repeat(1000), '\0']

test.each([
  'sixteen letters.',
  'x'.repeat(63),
  'x'.repeat(64),
  '\x7f\0 a secret',
  'x'.repeat(65),
  'ein Schlüssel für Cookies',
  '日本語の長い秘密の鍵です日本語',
])('is HMAC-SHA-256 under the secret %j', (secret) => {
  const hash = keyedHash(secret)
  for (const text of [...TEXTS, ...TEXTS])
    expect(hash(text)).toBe(createHmac('sha256', secret).update(text).digest('base64url'))
})
