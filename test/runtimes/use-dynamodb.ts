import { TABLE, useDynalite } from '../integration/dynamodb/use-dynalite.js'
import type { StartOptions } from './runtimes.js'

/** Starts DynamoDB's stand-in before the tests of a file. Each test finds an empty table. */
export function useDynamodb(): { readonly options: StartOptions } {
  const tables = useDynalite()
  beforeEach(async () => {
    const { Items = [] } = await tables.client.scan({ TableName: TABLE })
    for (const { key } of Items) await tables.client.deleteItem({ TableName: TABLE, Key: { key } })
  })
  return {
    /** What an application needs that imports `stores/dynamodb.ts`. */
    get options() {
      const { port, folder } = tables.server
      const env = { DYNAMODB_URL: `http://127.0.0.1:${port}`, DYNAMODB_TABLE: TABLE }
      return { packages: `${folder}/node_modules`, env }
    },
  }
}
