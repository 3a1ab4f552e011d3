import { pageModule } from '../../../support/page-module.js'

const { changedText } = pageModule<{ changedText(change: object): string }>('changed-text.js')
const TO = { limit: 4000 }

test.each([
  [{ effect: 'release', who: 'ada' }, 'Released ada in api'],
  [{ effect: 'block', who: '203.0.113.0/24' }, 'Blocked 203.0.113.0/24 in api'],
  [{ effect: 'exempt', who: '8 clients' }, 'Exempted 8 clients in api'],
  [{ effect: 'raise', who: 'ada', limits: { api: TO } }, 'Raised ada in api to 4,000'],
  [{ effect: 'raise', who: 'ada', limits: { a: TO, b: TO } }, 'Raised ada in api a to 4,000, b to 4,000'],
])('%j has been done: %s', (change, text) => {
  expect(changedText({ limiter: 'api', ...change })).toBe(text)
})
