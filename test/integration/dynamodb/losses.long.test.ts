import { describeKills, describeLostReplies } from './losses.js'
import { useDynalite } from './use-dynalite.js'

jest.setTimeout(600_000)

const tables = useDynalite()

describeKills(tables, { processes: 6, limit: 5000 })
describeLostReplies(tables, 3000)
