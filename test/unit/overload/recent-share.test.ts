import { RecentShare } from '../../../src/overload/recent-share.js'

test('the share is that of the last 5 to 10 seconds', () => {
  const share = new RecentShare()
  expect(share.share(0)).toBe(0)
  for (const isMatching of [true, true, false, false]) share.count(isMatching, 1000)
  expect(share.share(1000)).toBe(0.5)
  expect(share.share(1000, 4)).toBe(0.25)
  share.count(true, 6500)
  expect(share.share(6500)).toBe(3 / 5)
  expect(share.share(11_600)).toBe(1)
  expect(share.share(30_000)).toBe(0)
  expect(share.share(-5)).toBe(0)
})
