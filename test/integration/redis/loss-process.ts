import { fixedWindow } from 'headgate'
import { chargeForParent } from '../../support/charging-process.js'
import { openStore } from './process-store.js'

/** More than a test can charge. */
export const POLICY = fixedWindow({ limit: 2 ** 40, window: '1000d' })

/** Charges as fast as it can until it is told to stop. */
async function main(url: string, driver: string): Promise<void> {
  const { store, end } = await openStore(url, driver)
  await chargeForParent(store, [{ key: 'key', policy: POLICY, cost: 1 }], 50)
  end()
}

const [url, driver = ''] = process.argv.slice(2)
if (process.send !== undefined && url?.startsWith('redis://')) void main(url, driver)
