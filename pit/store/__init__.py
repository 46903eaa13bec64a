"""Many tables, many years: several processes, rows by month, a copy for searches."""
