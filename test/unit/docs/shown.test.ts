import { fixedWindow, slidingLog, slidingWindow, tokenBucket } from 'headgate'
import { SHOWN } from '../../../docs/.vitepress/theme/policies/shown.js'

test.each(SHOWN.map((shown) => [shown.title, shown] as const))(
  '%s: the code that the page shows makes the policy that it runs',
  (_, { code, policy }) => {
    const makers = { fixedWindow, slidingLog, slidingWindow, tokenBucket }
    const make = new Function(...Object.keys(makers), `return ${code}`)
    expect(make(...Object.values(makers)).spec).toEqual(policy.spec)
  },
)

test('only the fixed window ends with the clock', () => {
  expect(SHOWN.filter(({ hasBorders }) => hasBorders).map(({ policy }) => policy.spec.kind)).toEqual([
    'fixed-window',
  ])
})
