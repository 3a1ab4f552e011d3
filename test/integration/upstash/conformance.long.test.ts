import { describeUpstash, storesOf } from './conformance.js'
import { useUpstash } from './use-upstash.js'

const used = useUpstash()

describe.each(Object.entries(storesOf(used)))('%s', (_, makeStore) => {
  describeUpstash(used, makeStore, 'all')
})
