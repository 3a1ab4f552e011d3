import { describeCollations } from './collations.js'

describeCollations('utf8mb4_uca1400_as_cs')
