CREATE TABLE tickets (
  ticket TEXT PRIMARY KEY, title TEXT, state TEXT, component TEXT, team TEXT, priority INTEGER
);
CREATE TABLE moves (ticket TEXT, component TEXT, moved_on TEXT, moved_by TEXT);
INSERT INTO tickets VALUES
  ('{earlier}', 'Say how we work here', 'closed', 'C-40', 'maintenance', 3),
  ('{ticket}', 'Some tests fail', 'open', '{formerly}', 'maintenance', 2);
INSERT INTO moves VALUES
  ('{earlier}', 'C-40', '2024-05-20', 'triage'),
  ('{ticket}', '{formerly}', '2024-11-18', 'triage');
