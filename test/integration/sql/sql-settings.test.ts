import { describeSqlSettings } from './sql-settings.js'

describeSqlSettings('sample')
